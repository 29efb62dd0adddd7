import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ManualClock } from '@keelson/clock';
import { expect, test } from 'vitest';
import { createCounter, createRegistry, registerSampled } from './metrics.ts';

/** Lines about metrics with this prefix, without comments. */
const linesOf = (text: string, prefix: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith(prefix));

test('a registry shows the build, and counters before their first increase', async () => {
  const registry = createRegistry('1.2.3');
  createCounter(registry, 'keelson_things_total', 'Things.');
  const text = await registry.metrics();
  expect([...linesOf(text, 'keelson_build_'), ...linesOf(text, 'keelson_things_')]).toEqual([
    `keelson_build_info{version="1.2.3",node="${process.versions.node}"} 1`,
    'keelson_things_total 0',
  ]);
});

test('only counters have names that end in _total, and the heap is not shown by space', async () => {
  const text = await createRegistry('1.2.3').metrics();
  const gauges = linesOf(text, '# TYPE ').filter((line) => line.endsWith(' gauge'));
  expect(gauges).toContain('# TYPE nodejs_active_handles gauge');
  expect(gauges.filter((line) => line.endsWith('_total gauge'))).toEqual([]);
  expect(linesOf(text, 'nodejs_heap_space_')).toEqual([]);
});

test('a process does not keep the registry of a service that was stopped', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const registry = new WeakRef(createRegistry('1.2.3'));
  // A reference is strong until the end of the turn in which it is made.
  await setImmediate();
  collectGarbage();
  expect(registry.deref()?.contentType).toBeUndefined();
});

test('a sample is read once for all its gauges, and again after 15 s', async () => {
  const registry = createRegistry('1.2.3');
  const clock = new ManualClock();
  let reads = 0;
  registerSampled(
    registry,
    clock,
    { t_plain: { help: 'Plain.' }, t_labelled: { help: 'Labelled.', label: 'status' } },
    async () => {
      reads += 1;
      return { t_plain: reads, t_labelled: new Map([[`read-${reads}`, reads]]) };
    },
  );
  const read = async () => linesOf(await registry.metrics(), 't_');
  const first = ['t_plain 1', 't_labelled{status="read-1"} 1'];
  expect(await read()).toEqual(first);
  clock.advance(14_999);
  expect(await read()).toEqual(first);
  clock.advance(1);
  expect(await read()).toEqual(['t_plain 2', 't_labelled{status="read-2"} 2']);
});

test('values that cannot be read are not shown, and do not hide others', async () => {
  const registry = createRegistry('1.2.3');
  const clock = new ManualClock();
  let isSealed = true;
  registerSampled(
    registry,
    clock,
    {
      t_value: { help: 'Value.' },
      t_unknown: { help: 'Unknown.' },
      t_labelled: { help: 'Labelled.', label: 'status' },
    },
    async () => {
      if (isSealed) throw new Error('sealed');
      return { t_value: 0, t_unknown: undefined, t_labelled: undefined };
    },
  );
  expect(linesOf(await registry.metrics(), 't_')).toEqual([]);
  expect(linesOf(await registry.metrics(), 'keelson_build_info')).toHaveLength(1);
  isSealed = false;
  clock.advance(15_000);
  expect(linesOf(await registry.metrics(), 't_')).toEqual(['t_value 0']);
});
