import { describe, expect, test } from 'vitest';
import { edgeResponse } from './edge-service.ts';
import { createResponseCache } from './response-cache.ts';

const answer = (size: number) => ({
  response: {
    ...edgeResponse(200, {}, new Uint8Array(size)),
    isStillValid: () => Promise.resolve(true),
  },
});

describe('the response cache', () => {
  test('holds what its size allows, and evicts the least recently used', () => {
    const answers = createResponseCache(650);
    const large = answer(900_000);
    for (let index = 0; index < 200; index += 1) answers.set(`/${index}`, large);
    expect([answers.get('/0'), answers.get('/199')]).toEqual([undefined, large]);
    const kept = Array.from({ length: 200 }, (_, index) => answers.get(`/${index}`)).filter(
      (one) => one !== undefined,
    );
    expect(kept.length * 900_000).toBeGreaterThan(130_000_000);
    expect(kept.length * 900_000).toBeLessThan(134_217_728);
  });

  test('counts a replaced response once', () => {
    const answers = createResponseCache(650);
    answers.set('/kept', answer(900_000));
    for (let turn = 0; turn < 1000; turn += 1) answers.set('/again', answer(900_000));
    expect(answers.get('/kept')).toBeDefined();
  });

  test('does not hold responses larger than a megabyte', () => {
    const answers = createResponseCache(650);
    answers.set('/', answer(1_048_577));
    expect(answers.get('/')).toBeUndefined();
  });
});
