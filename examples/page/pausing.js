// Requests that may pause: a client for pausing routes in a browser.

const INPUT_REQUIRED = "https://sterna.dev/problems/input-required";

/**
 * Sends a request and answers its questions until it is done.
 *
 * `ask` gets the questions by key, each with `message`, `schema` and maybe `data`, and returns
 * the answers by the same keys. A lost response is safe to repeat: the server knows the request
 * by its `Idempotency-Key`, and a retry by its state.
 */
export async function pausing(url, body, { ask, headers = {}, method = "POST" }) {
  const key = crypto.randomUUID();
  let resume;
  for (;;) {
    const response = await repeat(() =>
      fetch(url, {
        method,
        headers: { "content-type": "application/json", "idempotency-key": `"${key}"`, ...headers },
        body: JSON.stringify(resume ? { ...body, resume } : body),
      }),
    );
    const isProblem = response.headers.get("content-type") === "application/problem+json";
    const answer = await response.json();
    if (!isProblem || answer.type !== INPUT_REQUIRED) return { response, answer };
    resume = { token: answer.resume, answers: await ask(answer.questions) };
  }
}

/** Repeats a request that got no response, or that is still being served. */
async function repeat(send, attempts = 5) {
  for (let pause = 200; ; pause *= 2) {
    try {
      const response = await send();
      if (response.status !== 409 || --attempts <= 0) return response;
    } catch (error) {
      if (--attempts <= 0) throw error;
    }
    await new Promise((done) => setTimeout(done, pause));
  }
}
