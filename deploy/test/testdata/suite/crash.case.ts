import { test } from 'vitest';

test('ends the process', () => process.kill(process.pid, 'SIGKILL'));
