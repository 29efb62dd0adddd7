/** Every answer that a test gets is compared with the OpenAPI document of the service, strictly. */
import { type EdgeService, toOpenApiDocument } from '@keelson/edge';
import { answerCheck, type DescribedApi } from '@keelson/testkit/described-answers';

/** Throws if the answer is not as described. */
export const requireDescribed = answerCheck(
  async (edge: Pick<EdgeService, 'describe'>) =>
    JSON.parse(JSON.stringify(toOpenApiDocument(await edge.describe()))) as DescribedApi,
);
