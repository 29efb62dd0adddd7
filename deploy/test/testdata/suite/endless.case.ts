import { test } from 'vitest';

test('never ends', { timeout: 0 }, () => new Promise(() => undefined));
