import { Agent, request } from 'node:http';
import autocannon from 'autocannon';
import { answerCommands } from '../child-process.ts';
import { measureLatency, type Throughput } from '../load.ts';

interface Load {
  readonly url: string;
  readonly connections: number;
  readonly perSecond: number;
  readonly seconds: number;
}

const BODY = Buffer.alloc(600, 'k');
const HEADERS = { 'content-type': 'application/json', 'x-service-token': 'k.bench' };

const throughput = async ({ url, connections, seconds }: Load): Promise<Throughput> => {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    method: 'POST',
    headers: HEADERS,
    body: BODY,
  });
  const failures = result.errors + result.non2xx;
  if (failures > 0) throw new Error(`${failures} requests failed`);
  return {
    operations: result.requests.total,
    perSecond: result.requests.total / result.duration,
  };
};

const latency = async ({ url, connections, perSecond, seconds }: Load) => {
  // autocannon reports whole milliseconds; the hop is a fraction of one.
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const post = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(url, { agent, method: 'POST', headers: HEADERS }, (response) => {
        response.resume().once('end', resolve);
      });
      sent.once('error', reject).end(BODY);
    });
  try {
    return await measureLatency(post, perSecond, seconds);
  } finally {
    agent.destroy();
  }
};

answerCommands({ throughput, latency });
