import { beforeAll, describe, test } from 'vitest';

describe('a group that is not prepared', () => {
  beforeAll(() => {
    throw new Error('no database');
  });
  test('is not run', () => undefined);
});
