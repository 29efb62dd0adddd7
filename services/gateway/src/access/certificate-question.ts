/** Asks sys whether clients sign in with certificates, so that TLS asks them for one without a restart. */
import type { Clock } from '@keelson/clock';
import type { AccessDefinition } from '@keelson/proto/sys/v1/access';
import type { RpcService } from '@keelson/rpc';
import { answeredInTime } from './answered-in-time.ts';
import { createClusterQuestion } from './cluster-question.ts';

/** While sys is sealed or does not answer, the last answer counts, so that connections are accepted all the same. */
export const createCertificateQuestion = (
  access: Pick<RpcService<typeof AccessDefinition>, 'resolve'>,
  clock: Clock,
): (() => Promise<boolean>) => {
  const askCluster = createClusterQuestion(access);
  let last = false;
  return async () => {
    const answer = await answeredInTime(clock, askCluster(), undefined).catch(() => undefined);
    last = answer?.requestsCertificates ?? last;
    return last;
  };
};
