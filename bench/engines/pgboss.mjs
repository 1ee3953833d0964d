// pg-boss: a job without a journal. Jobs are fetched and completed in batches as
// soon as one is there, where its own workers would poll twice a second.
import PgBoss from 'pg-boss';
import { TEXT, Waiting, serve } from './load.mjs';

const boss = new PgBoss(process.argv[2]);
boss.on('error', console.error);
await boss.start();
await boss.createQueue('step');
const ended = new Waiting();
let waiting = 0;
let isWorking = false;

async function work() {
  if (isWorking) return;
  isWorking = true;
  while (waiting > 0) {
    const jobs = await boss.fetch('step', { batchSize: 64 });
    if (jobs.length === 0) continue;
    const ids = jobs.map((job) => job.id);
    await boss.complete('step', ids);
    waiting -= ids.length;
    for (const id of ids) ended.resolve(id);
  }
  isWorking = false;
}

const { randomUUID } = await import('node:crypto');
await serve({
  step: async () => {
    const id = randomUUID();
    const end = ended.wait(id);
    await boss.send('step', { text: TEXT }, { id });
    waiting += 1;
    work();
    await end;
  },
});
