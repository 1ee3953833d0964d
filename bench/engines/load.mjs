// The load that every engine runs: callers that each start a one-step task, wait
// for its end and start the next one, until the time is over. Loads come as
// lines of JSON on standard input. The kinds of load and then the results go as
// lines of JSON to standard output.
import { createInterface } from 'node:readline';

/** Serves loads with `kinds`: for each kind of load, a function that runs one task. */
export async function serve(kinds) {
  console.log(JSON.stringify(Object.keys(kinds)));
  for await (const line of createInterface({ input: process.stdin })) {
    const { kind, callers, seconds } = JSON.parse(line);
    console.log(JSON.stringify(await run(kinds[kind], callers, seconds)));
  }
  process.exit(0);
}

async function run(task, callers, seconds) {
  const millis = [];
  const begun = performance.now();
  const end = begun + seconds * 1000;
  const call = async () => {
    while (performance.now() < end) {
      const since = performance.now();
      // A load may measure a part of the task only.
      millis.push((await task()) ?? performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return { seconds: (performance.now() - begun) / 1000, millis };
}

/** The argument of a task, which its step returns. */
export const TEXT = 'a'.repeat(400);

/** Promises by key: a part of the program resolves what another one waits for. */
export class Waiting {
  #resolvers = new Map();

  wait(key) {
    return new Promise((resolve) => this.#resolvers.set(key, resolve));
  }

  resolve(key, value) {
    const resolver = this.#resolvers.get(key);
    this.#resolvers.delete(key);
    resolver?.(value);
  }
}
