// graphile-worker: a job without a journal. The worker takes jobs in groups and
// writes their ends in groups, which is its fastest setting.
import { run } from 'graphile-worker';
import { TEXT, Waiting, serve } from './load.mjs';

const ended = new Waiting();
const silent = { error: console.error, warn: () => {}, info: () => {}, debug: () => {} };
const { Logger } = await import('graphile-worker');
const runner = await run({
  connectionString: process.argv[2],
  noHandleSignals: true,
  logger: new Logger(() => (level, message) => silent[level === 'warning' ? 'warn' : level]?.(message)),
  taskList: { step: async () => {} },
  preset: { worker: { concurrentJobs: 64, localQueue: { size: 64 }, completeJobBatchDelay: 0 } },
});
runner.events.on('job:complete', ({ job }) => ended.resolve(job.key));

let number = 0;
await serve({
  step: async () => {
    const key = `${(number += 1)}`;
    const end = ended.wait(key);
    await runner.addJob('step', { text: TEXT }, { jobKey: key });
    await end;
  },
});
