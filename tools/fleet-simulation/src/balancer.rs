//! A round-robin balancer, and all the harm that a network can do to what
//! passes through it.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Request, Response as HttpResponse};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use turmoil::net::{TcpListener, TcpStream};

use crate::dice::Dice;
use crate::exchange::{Lost, PORT, Response, exchange};
use crate::fault::Fault;
use crate::instance::Instance;
use crate::message::{has_state, order_of};
use crate::world::{Captured, World};

#[derive(Clone)]
pub(crate) struct Balancer {
    pub(crate) world: World,
    pub(crate) fault: Fault,
    pub(crate) instances: usize,
    /// How likely each harm is, in percent.
    pub(crate) harm: u64,
    turn: Arc<Mutex<Turn>>,
}

struct Turn {
    dice: Dice,
    next: usize,
    /// The response before, for a balancer that mixes them up.
    last: Option<Response>,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harm {
    /// It comes a second time, later.
    Echoed(Duration),
    LoseRequest,
    LoseResponse,
    None,
    /// Two instances get it at once.
    Twice,
}

impl Balancer {
    pub(crate) const HOST: &str = "balancer";

    pub(crate) fn new(world: World, fault: Fault, instances: usize, harm: u64, dice: Dice) -> Self {
        let turn = Turn {
            dice,
            next: 0,
            last: None,
        };
        Self {
            world,
            fault,
            instances,
            harm,
            turn: Arc::new(Mutex::new(turn)),
        }
    }

    /// Balances until the simulation ends it.
    pub(crate) async fn run(self) -> turmoil::Result {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await?;
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => {
                    let (stream, _) = accepted?;
                    connections.spawn(self.clone().connection(stream));
                }
            }
        }
    }

    async fn connection(self, stream: TcpStream) {
        let echoes = Mutex::new(None);
        let service = service_fn(|request| self.answer(request, &echoes));
        let mut http = http1::Builder::new();
        let serving = http
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service);
        let _ = timeout(2 * PATIENCE, serving).await;
        let echo = echoes.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((after, head, body)) = echo {
            sleep(after).await;
            // Nobody waits for this response.
            let _ = self.forward(&head, &body).await;
        }
    }

    /// Serves a request. Cutting the connection is the error of a service.
    async fn answer(
        &self,
        request: Request<Incoming>,
        echoes: &Mutex<Option<(Duration, Parts, Bytes)>>,
    ) -> Result<HttpResponse<Full<Bytes>>, Lost> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Lost::Unknown)?.to_bytes();
        let order = order_of(&body).ok_or(Lost::Unknown)?;
        if has_state(&body) {
            let (user, body) = (order.user.clone(), body.clone());
            self.world.capture(Captured { user, body });
        }
        let harm = self.draw();
        if harm != Harm::None {
            self.world.log(format_args!("{order}: {harm:?}"));
            self.world.disturb(&order);
        }
        let response = match harm {
            Harm::LoseRequest => return Err(Lost::NotSent),
            Harm::None => self.forward(&head, &body).await?,
            Harm::LoseResponse => {
                let _ = self.forward(&head, &body).await;
                return Err(Lost::Unknown);
            }
            Harm::Twice => {
                let (one, other) =
                    tokio::join!(self.forward(&head, &body), self.forward(&head, &body));
                if self.turn().dice.percent(50) {
                    one?
                } else {
                    other?
                }
            }
            Harm::Echoed(after) => {
                let echo = Some((after, head.clone(), body.clone()));
                *echoes.lock().unwrap_or_else(PoisonError::into_inner) = echo;
                self.forward(&head, &body).await?
            }
        };
        let response = self.mix_up(response);
        let mut answer = HttpResponse::new(Full::new(response.body));
        *answer.status_mut() = http::StatusCode::from_u16(response.status).unwrap_or_default();
        for name in ["content-type", INSTANCE] {
            if let Some(value) = response.headers.get(name) {
                answer.headers_mut().insert(name, value.clone());
            }
        }
        Ok(answer)
    }

    /// Sends a request to the next instance that is there.
    async fn forward(&self, head: &Parts, body: &Bytes) -> Result<Response, Lost> {
        for _ in 0..self.instances {
            let instance = self.next();
            let mut request = Request::post("/mcp");
            if let Some(headers) = request.headers_mut() {
                *headers = head.headers.clone();
            }
            let request = request.body(Full::new(body.clone()));
            let request = request.map_err(|_| Lost::NotSent)?;
            match exchange(&Instance::host(instance), request, PATIENCE).await {
                Err(Lost::NotSent) => {}
                Err(lost) => return Err(lost),
                Ok(mut response) => {
                    let instance = HeaderValue::from(instance);
                    response.headers.insert(INSTANCE, instance);
                    return Ok(response);
                }
            }
        }
        Err(Lost::NotSent)
    }

    fn next(&self) -> usize {
        let mut turn = self.turn();
        turn.next = (turn.next + 1) % self.instances;
        turn.next
    }

    fn draw(&self) -> Harm {
        let harm = self.harm;
        let dice = &mut self.turn().dice;
        if dice.percent(harm) {
            Harm::LoseRequest
        } else if dice.percent(harm) {
            Harm::LoseResponse
        } else if dice.percent(harm) {
            Harm::Twice
        } else if dice.percent(harm) {
            Harm::Echoed(Duration::from_millis(dice.between(20, 900)))
        } else {
            Harm::None
        }
    }

    fn mix_up(&self, response: Response) -> Response {
        if self.fault != Fault::CrossedResponses {
            return response;
        }
        let mut turn = self.turn();
        let last = turn.last.replace(response.clone());
        match last {
            Some(last) if turn.dice.percent(20) => last,
            _ => response,
        }
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut off")
    }
}

impl std::error::Error for Lost {}

/// The header that says which instance a response is from.
pub(crate) const INSTANCE: &str = "x-instance";

/// How long an instance may take.
const PATIENCE: Duration = Duration::from_millis(800);
