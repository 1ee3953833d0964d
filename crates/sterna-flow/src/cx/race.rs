//! The first of several, remembered.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::value::{read, write};
use crate::journal::Kind;
use crate::shared::{Permission, WaiterHandle};

/// The first of several futures. Made by [`FlowCx::race`](crate::FlowCx::race).
///
/// A replay lets all of them run until it gets to where the race was decided,
/// and then drops them for the result of then.
#[must_use = "futures do nothing unless awaited"]
pub struct Race<'a, 'b, T> {
    handle: WaiterHandle<'a>,
    arms: Vec<Arm<'b, T>>,
    /// `true` while the journal has no winner.
    undecided: bool,
}

type Arm<'b, T> = Pin<Box<dyn Future<Output = T> + Send + 'b>>;

impl<'a, 'b, T> Race<'a, 'b, T> {
    pub(super) const fn new(handle: WaiterHandle<'a>, arms: Vec<Arm<'b, T>>) -> Self {
        Self {
            handle,
            arms,
            undecided: false,
        }
    }
}

impl<T: Serialize + DeserializeOwned> Future for Race<'_, '_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = self.get_mut();
        match this.handle.poll(cx) {
            Permission::Told(entry) => {
                this.arms.clear();
                return read(&mut this.handle, entry);
            }
            Permission::Start => this.undecided = true,
            Permission::Ask(_) | Permission::Wait => {}
        }
        let winner = this.arms.iter_mut().find_map(|arm| {
            let Poll::Ready(value) = arm.as_mut().poll(cx) else {
                return None;
            };
            Some(value)
        });
        if let Some(value) = winner {
            this.arms.clear();
            if this.undecided {
                write(&this.handle, Kind::Race, None, &value, cx);
            }
        }
        Poll::Pending
    }
}

// An output is only moved out.
impl<T> Unpin for Race<'_, '_, T> {}

impl<T> fmt::Debug for Race<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Race({})", self.handle.key())
    }
}

/// Futures with one type of output: a tuple of up to six, or a `Vec`.
pub trait Arms<'b> {
    /// The result of each branch.
    type Output;

    /// The futures, in order. The first one wins a tie.
    fn into_arms(self) -> Vec<Pin<Box<dyn Future<Output = Self::Output> + Send + 'b>>>;
}

impl<'b, F> Arms<'b> for Vec<F>
where
    F: Future + Send + 'b,
{
    type Output = F::Output;

    fn into_arms(self) -> Vec<Arm<'b, F::Output>> {
        self.into_iter()
            .map(|arm| Box::pin(arm) as Arm<'b, F::Output>)
            .collect()
    }
}

/// Lets a tuple of futures race.
macro_rules! tuple {
    ($($arm:ident)+) => {
        impl<'b, T, $($arm),+> Arms<'b> for ($($arm,)+)
        where
            $($arm: Future<Output = T> + Send + 'b),+
        {
            type Output = T;

            #[expect(non_snake_case, reason = "a type parameter names its value")]
            fn into_arms(self) -> Vec<Arm<'b, T>> {
                let ($($arm,)+) = self;
                vec![$(Box::pin($arm)),+]
            }
        }
    };
}

tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);
