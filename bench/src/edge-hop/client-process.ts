import type { EdgeService } from '@keelson/edge';
import { connectEdge } from '@keelson/edge/stream';
import { answerCommands } from '../child-process.ts';
import { measureLatency, measureThroughput } from '../load.ts';
import { echoService, edgeRequest } from './echo-service.ts';

interface Load {
  /** Absent: the service runs in this process. */
  readonly port?: number;
  readonly callers: number;
  readonly perSecond: number;
  readonly seconds: number;
}

let reached: EdgeService = echoService;
const request = (): Promise<unknown> => reached.handle(edgeRequest());

answerCommands({
  connect: (port: number) => {
    reached = connectEdge({ addresses: [`127.0.0.1:${port}`], service: 'echo' }).edge;
  },
  throughput: ({ callers, seconds }: Load) => measureThroughput(request, callers, seconds),
  latency: ({ perSecond, seconds }: Load) => measureLatency(request, perSecond, seconds),
});
