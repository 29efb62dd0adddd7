/** A supervisor for tests, which is killed while its worker waits for an answer. */
import { fileURLToPath } from 'node:url';
import { superviseTask } from '../supervisor.ts';

const limits = {
  timeMs: 60_000,
  memoryBytes: 512 * 1024 * 1024,
  processes: 8,
  outputBytes: 1_000_000,
  fileBytes: 1_000_000,
};
await superviseTask(fileURLToPath(new URL('./worker.ts', import.meta.url)), 'ask', {
  limits,
  answer: (_question, { folder }) => {
    process.stdout.write(`${folder}\n`);
    return new Promise(() => setInterval(() => undefined, 60_000));
  },
});
