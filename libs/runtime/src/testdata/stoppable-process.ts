// A process for process.integration.test.ts that reports its events on standard output.
import { PassThrough } from 'node:stream';
import { countUncaughtExceptions, guarded } from '@keelson/errors';
import { createLogger } from '@keelson/logging';
import { readExceptions } from '../exception-file.ts';
import { runProcess } from '../runtime.ts';

const [, , behaviour, exceptionFile = '/nowhere/exceptions.json'] = process.argv;
readExceptions(exceptionFile);
process.stdout.write(`${JSON.stringify([...countUncaughtExceptions()])}\n`);
await runProcess({
  name: 'sample',
  environment: process.env,
  exceptionFile: () => exceptionFile,
  stopWithinMs: behaviour === 'hang' ? 1 : 30_000,
  start: async () => {
    if (behaviour === 'refuse') throw new Error('KEELSON_X must be set');
    // Nothing in this sample keeps the event loop alive, as in a service that waits for another one.
    await new Promise((resolve) => setTimeout(resolve, 20).unref());
    if (behaviour === 'reject') setImmediate(() => void Promise.reject(new Error('nobody awaits')));
    if (behaviour === 'throw')
      setImmediate(() => {
        throw new Error('thrown by nobody');
      });
    if (behaviour === 'guarded') {
      const stream = new PassThrough().on(
        'data',
        guarded('sample/stream', (piece: Buffer) => JSON.parse(piece.toString())),
      );
      stream.on('close', () => process.stdout.write('ready\n'));
      setImmediate(() => stream.write('no JSON'));
    } else if (behaviour !== 'reject' && behaviour !== 'throw') process.stdout.write('ready\n');
    return {
      logger: createLogger({ name: 'sample', level: 'info' }),
      stop: () => {
        if (behaviour === 'hang') return new Promise(() => undefined);
        return Promise.resolve();
      },
    };
  },
});
