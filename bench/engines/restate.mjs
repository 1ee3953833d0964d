// Restate: its server, which keeps its own log, and a service in this process,
// called through the server's ingress.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import * as restate from '@restatedev/restate-sdk';
import { TEXT, Waiting, serve } from './load.mjs';

const [folder] = process.argv.slice(2);
const asked = new Waiting();
const continued = new Waiting();
const bench = restate.service({
  name: 'bench',
  handlers: {
    step: async (ctx, text) => ctx.run('keep', () => text),
    ask: async (ctx, key) => {
      const { id, promise } = ctx.awakeable();
      asked.resolve(key, id);
      const name = await promise;
      continued.resolve(key, performance.now());
      return name;
    },
  },
});

const [service, ingress, admin, node] = await Promise.all([port(), port(), port(), port()]);
await restate.endpoint().bind(bench).setLogger(() => {}).listen(service);
const program = fileURLToPath(new URL('node_modules/.bin/restate-server', import.meta.url));
const server = spawn(process.execPath, [program, '--base-dir', folder], {
  stdio: 'ignore',
  env: {
    ...process.env,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
  },
});
process.on('exit', () => server.kill());
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
await retry((signal) => post(admin, 'deployments', { uri: `http://127.0.0.1:${service}` }, signal));
await retry((signal) => post(ingress, 'bench/step', TEXT, signal));

let number = 0;
await serve({
  step: async () => {
    if ((await post(ingress, 'bench/step', TEXT)) !== TEXT) throw new Error('the result is another');
  },
  // The time from the answer until the handler continues.
  ask: async () => {
    const key = `${(number += 1)}`;
    const question = asked.wait(key);
    const end = post(ingress, 'bench/ask', key);
    const id = await question;
    const goesOn = continued.wait(key);
    const since = performance.now();
    await post(ingress, `restate/awakeables/${id}/resolve`, 'a name');
    const took = (await goesOn) - since;
    await end;
    return took;
  },
});

async function post(port, path, body, signal) {
  const response = await fetch(`http://127.0.0.1:${port}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text && JSON.parse(text);
}

/** Repeats what a server that starts refuses or leaves without an answer. */
async function retry(call) {
  for (const end = performance.now() + 60_000; ; ) {
    try {
      return await call(AbortSignal.timeout(5_000));
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function port() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
