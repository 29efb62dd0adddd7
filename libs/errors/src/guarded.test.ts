/**
 * | a handler throws on | ends | the fault |
 * | --- | --- | --- |
 * | a connection that a server brings | the connection, not the server | counted, reported |
 * | a piece of a stream | the stream | counted, reported |
 * | a line of a reader | the reader | counted, reported |
 * | a promise that it returns | as above | counted, reported |
 * | anything, while nobody subscribes | as above | thrown |
 */
import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { countHandlerFaults, guarded, type HandlerFault, handlerFaults } from './guarded.ts';

const fail = (): never => {
  throw new Error('odd bytes');
};

const subscribe = (): readonly HandlerFault[] => {
  const seen: HandlerFault[] = [];
  const listen = (fault: unknown): number => seen.push(fault as HandlerFault);
  handlerFaults.subscribe(listen);
  onTestFinished(() => handlerFaults.unsubscribe(listen));
  return seen;
};

test('a fault ends the connection that the event brought, and is counted and reported', () => {
  const seen = subscribe();
  const before = countHandlerFaults().get('sample/server') ?? 0;
  const server = Object.assign(new EventEmitter(), { destroy: () => expect.unreachable() });
  server.on('connection', guarded('sample/server', fail));
  const [first, second] = [new PassThrough(), new PassThrough()];
  server.emit('connection', first, 'and', null);
  server.emit('connection', second);
  expect([first.destroyed, second.destroyed]).toEqual([true, true]);
  expect(seen.map(({ capability, message }) => [capability, message])).toEqual([
    ['sample/server', 'a handler of sample/server failed'],
    ['sample/server', 'a handler of sample/server failed'],
  ]);
  expect(seen[0]?.cause).toMatchObject({ message: 'odd bytes' });
  expect(countHandlerFaults().get('sample/server')).toBe(before + 2);
});

test('a fault on bytes ends their stream, and one on lines their reader', async () => {
  const seen = subscribe();
  const stream = new PassThrough();
  stream.on('data', guarded('sample/stream', fail));
  stream.emit('data', Buffer.from('x'));
  expect(stream.destroyed).toBe(true);
  const lines = createInterface({ input: new PassThrough() });
  const { promise, resolve } = Promise.withResolvers<void>();
  lines.on('close', resolve);
  lines.on(
    'line',
    guarded('sample/lines', (line: string) => JSON.parse(line)),
  );
  lines.emit('line', '{');
  await promise;
  expect(seen.map(({ capability }) => capability)).toEqual(['sample/stream', 'sample/lines']);
});

test('a promise that a handler returns is awaited for its error', async () => {
  const reported = Promise.withResolvers<unknown>();
  handlerFaults.subscribe(reported.resolve);
  onTestFinished(() => handlerFaults.unsubscribe(reported.resolve));
  const stream = new PassThrough();
  stream.on(
    'data',
    guarded('sample/promise', () => Promise.reject(new Error('late'))),
  );
  stream.emit('data', '');
  expect(await reported.promise).toMatchObject({ cause: { message: 'late' } });
  expect(stream.destroyed).toBe(true);
});

test('a fault that nobody would see is thrown, and names its capability', () => {
  const stream = new PassThrough();
  stream.on('data', guarded('sample/alone', fail));
  expect(() => stream.emit('data', '')).toThrow('a handler of sample/alone failed');
  expect(stream.destroyed).toBe(true);
});

test('a handler that does not fail has its emitter and its values', () => {
  const stream = new PassThrough();
  stream.on(
    'data',
    guarded('sample/fine', function (this: PassThrough, piece: string) {
      expect([this === stream, piece]).toEqual([true, 'x']);
    }),
  );
  stream.emit('data', 'x');
  expect(stream.destroyed).toBe(false);
});
