import { ServerProcess } from '@keelson/testkit';
import { beforeAll, describe, test } from 'vitest';

const runServer = async (name: string): Promise<void> => {
  const server = new ServerProcess({
    file: 'sh',
    args: ['-c', 'for i in $(seq 30); do echo "$0 $i"; done; exec sleep 60', name],
    ready: / 30$/m,
  });
  await server.start();
  await server.kill();
};

test('passes with its server', () => runServer('passing'));
test('fails after its server has ended', async () => {
  await runServer('failing');
  throw new Error('after the server');
});
describe('a group whose server starts', () => {
  beforeAll(async () => {
    await runServer('preparing');
    throw new Error('not prepared');
  });
  test('is not run', () => undefined);
});
