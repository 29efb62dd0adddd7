import { describe, expect, test } from 'vitest';
import { BENCHES } from './benches.ts';
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
