import { test } from 'vitest';

test('is not known', () => undefined);
throw new Error('not loaded');
