// DBOS Transact: a workflow with one step, started and awaited in its process.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { TEXT, serve } from './load.mjs';

const silent = () => {};
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.argv[2],
  // Standard output is for results.
  logger: { info: silent, debug: silent, warn: silent, error: console.error },
});
const step = DBOS.registerWorkflow(async (text) => DBOS.runStep(async () => text, { name: 'keep' }), { name: 'step' });
await DBOS.launch();

await serve({
  step: async () => {
    const handle = await DBOS.startWorkflow(step)(TEXT);
    if ((await handle.getResult()) !== TEXT) throw new Error('the result is another');
  },
});
