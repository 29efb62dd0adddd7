/** Every answer that a test gets is compared with the OpenAPI document of the service, strictly. */
import { type EdgeService, toOpenApiDocument } from '@keelson/edge';
import { answerCheck, type DescribedApi } from '@keelson/testkit/described-answers';

/** The document of the service as clients read it. */
export const describedApi = async (edge: Pick<EdgeService, 'describe'>): Promise<DescribedApi> =>
  JSON.parse(JSON.stringify(toOpenApiDocument(await edge.describe()))) as DescribedApi;

/** Throws if the answer is not as described. */
export const requireDescribed = answerCheck(describedApi);
