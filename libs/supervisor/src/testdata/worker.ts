/** A worker for tests: it does what its task names. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { serveTask } from '../worker.ts';

const held: Buffer[] = [];
const forever = (): Promise<never> => new Promise(() => setInterval(() => undefined, 60_000));

await serveTask(async (task, ask) => {
  switch (task) {
    case 'ask':
      return [await ask('one'), await ask('two').catch((error: Error) => error.message)];
    case 'environment':
      // oxlint-disable-next-line node/no-process-env -- what the test asks for
      return { names: Object.keys(process.env).toSorted(), flags: process.execArgv };
    case 'throw':
      throw new Error('a secret of the repository');
    case 'exit':
      return process.exit(0);
    case 'wait':
      return forever();
    case 'memory':
      held.push(Buffer.alloc(600 * 1024 * 1024, 1));
      return forever();
    case 'all memory':
      for (;;) held.push(Buffer.alloc(16 * 1024 * 1024, held.length));
    case 'processes':
      for (let index = 0; index < 12; index += 1) spawn('sleep', ['600'], { stdio: 'ignore' });
      return forever();
    case 'leave':
      return spawn('sleep', ['600'], { stdio: 'ignore' }).pid;
    case 'escape':
      return ask(spawn('sleep', ['600'], { stdio: 'inherit', detached: true }).pid);
    case 'output':
      process.stdout.write('x'.repeat(2_000_000));
      return forever();
    case 'garbage':
      process.stdout.write('null\n');
      return forever();
    case 'questions':
      return Promise.all(Array.from({ length: 100 }, () => ask('never')));
    case 'file':
      writeFileSync('large', Buffer.alloc(3_000_000));
      return 'written';
    default:
      return task;
  }
});
