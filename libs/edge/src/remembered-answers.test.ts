import { describe, expect, test } from 'vitest';
import { edgeResponse } from './edge-service.ts';
import { RememberedAnswers } from './remembered-answers.ts';

const answer = (size: number) => ({
  response: {
    ...edgeResponse(200, {}, new Uint8Array(size)),
    stands: () => Promise.resolve(true),
  },
});

describe('remembered answers', () => {
  test('are as many as their size allows, and the oldest go first', () => {
    const answers = new RememberedAnswers(650);
    const large = answer(900_000);
    for (let index = 0; index < 200; index += 1) answers.put(`/${index}`, large);
    expect([answers.find('/0'), answers.find('/199')]).toEqual([undefined, large]);
    const kept = Array.from({ length: 200 }, (_, index) => answers.find(`/${index}`)).filter(
      (one) => one !== undefined,
    );
    expect(kept.length * 900_000).toBeGreaterThan(130_000_000);
    expect(kept.length * 900_000).toBeLessThan(134_217_728);
  });

  test('are no more than their number allows', () => {
    const answers = new RememberedAnswers(650);
    const small = answer(1);
    for (let index = 0; index <= 131_072; index += 1) answers.put(`/${index}`, small);
    expect([answers.find('/0'), answers.find('/1')]).toEqual([undefined, small]);
  });

  test('take no more room when they are replaced', () => {
    const answers = new RememberedAnswers(650);
    answers.put('/kept', answer(900_000));
    for (let turn = 0; turn < 1000; turn += 1) answers.put('/again', answer(900_000));
    expect(answers.find('/kept')).toBeDefined();
  });

  test('larger than a megabyte are not kept', () => {
    const answers = new RememberedAnswers(650);
    answers.put('/', answer(1_048_577));
    expect(answers.find('/')).toBeUndefined();
  });
});
