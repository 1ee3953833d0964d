//! A whole simulation, from the seed to the verdict.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sterna_seal::{Key, Keyring, SecretKey, SharedKeyring, UnixMillis};
use sterna_store::{MemoryLimits, MemoryStore, Store};
use turmoil::Sim;

use crate::auditor::Auditor;
use crate::balancer::Balancer;
use crate::client::Client;
use crate::clock::WallClock;
use crate::dice::Dice;
use crate::fault::Fault;
use crate::instance::Instance;
use crate::intruder::Intruder;
use crate::plan::{Event, Plan};
use crate::world::World;

/// What came of a simulation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// What was not as it must be; empty if all is well.
    pub violations: Vec<String>,
    /// Everything that happened, with the milliseconds since the beginning.
    pub log: Vec<String>,
    /// Orders that came to their end.
    pub ended: usize,
    /// Those of them that cannot know whether they were paid, because the run
    /// that was paying was cut off.
    pub unclear: usize,
}

/// Plays what `seed` decides on a fleet that is built as `fault` says.
#[must_use]
pub fn simulate(seed: u64, fault: Fault) -> Report {
    let mut dice = Dice::new(seed);
    let plan = Plan::draw(&mut dice);
    let world = World::default();
    world.log(format_args!("{plan:?}"));
    let fleet = Fleet::new(&plan, &world, fault, &mut dice);
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .enable_random_order()
        .tick_duration(Duration::from_millis(20))
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(30))
        .simulation_duration(Duration::from_secs(120))
        .build();
    fleet.populate(&mut sim, &plan, &mut dice);
    let mut events = plan.events.iter().peekable();
    loop {
        let now = sim.elapsed();
        while let Some((_, event)) = events.next_if(|(at, _)| *at <= now) {
            world.log(format_args!("at {}: {event:?}", now.as_millis()));
            fleet.happen(&mut sim, *event);
        }
        match sim.step() {
            Ok(false) => {}
            Ok(true) => break,
            Err(error) => {
                world.violated(format_args!("the simulation broke: {error}"));
                break;
            }
        }
    }
    drop((sim, fleet));
    for (instance, presence) in world.presences() {
        if presence > 0 {
            world.violated(format_args!("instance {instance} outlives its process"));
        }
    }
    let (ended, unclear) = world.ended();
    let (violations, log) = world.into_notes();
    Report {
        violations,
        log,
        ended,
        unclear,
    }
}

/// The machines of the fleet, whatever runs on them.
struct Fleet {
    world: World,
    fault: Fault,
    machines: Vec<Instance>,
    users: Arc<Vec<String>>,
    next_keys: Keyring,
}

impl Fleet {
    fn new(plan: &Plan, world: &World, fault: Fault, dice: &mut Dice) -> Self {
        let users: Vec<_> = (0..plan.users)
            .map(|user| NAMES[user].to_owned())
            .chain([Intruder::NAME.to_owned()])
            .collect();
        let users = Arc::new(users);
        let (first, second) = (secret(dice), secret(dice));
        let now = world.clock.now();
        let takes_over = now + Duration::from_secs(5 * 60);
        let ring = keyring([Key::new(first.clone())]);
        let next_keys = match fault {
            Fault::KeyCutShort => keyring([Key::new(second)]),
            _ => ring
                .rotate(second, takes_over, Duration::from_secs(3600), now)
                .expect("it takes over in the future"),
        };
        let shared = store(world);
        let machines = (0..plan.instances).map(|index| Instance {
            index,
            world: world.clone(),
            fault,
            clock: WallClock {
                world: world.clock.clone(),
                skew: plan.skews[index],
                is_stopped: fault == Fault::StoppedClock && index == 0,
            },
            keys: Arc::new(SharedKeyring::new(match fault {
                Fault::WrongKey if index == 0 => keyring([Key::new(secret(dice))]),
                _ => keyring([Key::new(first.clone())]),
            })),
            store: match fault {
                Fault::UnsharedLedger => store(world),
                _ => Arc::clone(&shared),
            },
            remembers_rounds: plan.remembers_rounds,
            is_upgraded: Arc::default(),
            users: Arc::clone(&users),
        });
        Self {
            world: world.clone(),
            fault,
            machines: machines.collect(),
            users,
            next_keys,
        }
    }

    fn populate(&self, sim: &mut Sim<'_>, plan: &Plan, dice: &mut Dice) {
        let (instances, users) = (plan.instances, plan.users);
        for machine in &self.machines {
            let machine = machine.clone();
            sim.host(Instance::host(machine.index), move || machine.clone().run());
        }
        let balancer = Balancer::new(
            self.world.clone(),
            self.fault,
            instances,
            plan.harm,
            dice.fork(),
        );
        sim.host(Balancer::HOST, move || balancer.clone().run());
        for user in self.users.iter().take(users) {
            let client = Client {
                user: user.clone(),
                world: self.world.clone(),
                dice: dice.fork(),
                beyond: plan.beyond,
                orders: plan.orders,
            };
            sim.client(user.as_str(), client.run());
        }
        let intruder = Intruder {
            world: self.world.clone(),
            dice: dice.fork(),
            instances,
            users,
        };
        sim.client(Intruder::NAME, intruder.run());
        let auditor = Auditor {
            world: self.world.clone(),
            instances,
            users,
        };
        sim.client("auditor", auditor.run());
    }

    fn happen(&self, sim: &mut Sim<'_>, event: Event) {
        let everybody = || {
            let users = self.users.iter().cloned();
            users.chain(["auditor".to_owned(), Balancer::HOST.to_owned()])
        };
        let others = || everybody().collect::<Vec<_>>();
        match event {
            Event::Crash(instance) => sim.crash(Instance::host(instance)),
            Event::Restart(instance) => sim.bounce(Instance::host(instance)),
            Event::Upgrade(instance) => {
                let machine = &self.machines[instance];
                machine.is_upgraded.store(true, Ordering::Relaxed);
                sim.bounce(Instance::host(instance));
            }
            Event::Leap => self.world.clock.leap(Duration::from_secs(30 * 60)),
            Event::Rotate(instance) => self.rotate(instance),
            Event::Hold(instance) => {
                for other in others() {
                    sim.hold(other, Instance::host(instance));
                }
            }
            Event::Release(instance) => {
                for other in others() {
                    sim.release(other, Instance::host(instance));
                }
            }
            Event::Partition(instance) => {
                for other in others() {
                    sim.partition(other, Instance::host(instance));
                }
            }
            Event::Repair(instance) => {
                for other in others() {
                    sim.repair(other, Instance::host(instance));
                }
            }
        }
    }

    fn rotate(&self, instance: usize) {
        let has_other_keys = self.fault == Fault::WrongKey && instance == 0;
        if !has_other_keys {
            let ring = keyring(self.next_keys.keys().cloned());
            self.machines[instance].keys.replace(ring, UnixMillis::MIN);
        }
    }
}

fn store(world: &World) -> Arc<dyn Store> {
    let clock = world.clock.clone();
    let now = move || clock.now();
    Arc::new(MemoryStore::with_clock(MemoryLimits::default(), now))
}

fn keyring(keys: impl IntoIterator<Item = Key>) -> Keyring {
    Keyring::new(keys).expect("the keys differ")
}

fn secret(dice: &mut Dice) -> SecretKey {
    let mut bytes = [0; 32];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&dice.roll().to_be_bytes());
    }
    SecretKey::from_bytes(&bytes).expect("32 bytes are a secret")
}

const NAMES: [&str; 3] = ["alice", "bob", "carol"];
