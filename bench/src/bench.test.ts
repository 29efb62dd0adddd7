import { describe, expect, test } from 'vitest';
import { BENCHES } from './benches.ts';
import { profileWork } from './profile/profile.ts';
import { standaloneLoad } from './profile/profiled-works.ts';
import { toTable } from './report.ts';

describe('every bench still runs', () => {
  test.for(BENCHES.map((bench) => [bench.name, bench] as const))('%s', async ([, bench]) => {
    const figures = await bench.run({ quick: true, say: () => undefined });
    for (const { name, value } of figures) {
      expect(name).not.toBe('');
      expect(value).toSatisfy(Number.isFinite);
    }
    expect(toTable(figures).split('\n')).toHaveLength(figures.length + 1);
  });
});

test('the cost of an operation is divided among its capabilities', async () => {
  const context = { quick: true, say: () => undefined };
  const [cost] = await profileWork(context, standaloneLoad('read a role', '2'), [4]);
  expect(cost?.perSecond).toBeGreaterThan(0);
  expect([...(cost?.capabilities.keys() ?? [])]).toContain('access');
  for (const microseconds of cost?.capabilities.values() ?? [])
    expect(microseconds).toBeGreaterThanOrEqual(0);
});
