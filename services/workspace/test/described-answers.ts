/** Every answer that a test gets is compared with the OpenAPI document of the service, strictly. */
import { type EdgeService, toOpenApiDocument } from '@keelson/edge';
import {
  type AnswerComparison,
  compareAnswers,
  type DescribedApi,
} from '@keelson/testkit/described-answers';

export interface AnsweredRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** The document of the service as clients read it. */
export const describedApi = async (edge: Pick<EdgeService, 'describe'>): Promise<DescribedApi> =>
  JSON.parse(JSON.stringify(toOpenApiDocument(await edge.describe()))) as DescribedApi;

/** Every service of the process has the same document. */
let comparison: Promise<AnswerComparison> | undefined;

/** Throws if the answer is not as described. */
export const requireDescribed = async (
  edge: Pick<EdgeService, 'describe'>,
  { method, path, query, status, contentType, body }: AnsweredRequest,
): Promise<void> => {
  comparison ??= describedApi(edge).then(compareAnswers);
  const { operationAt, faultsOf } = await comparison;
  const operation = operationAt(method, path);
  if (operation === undefined) return;
  const faults = faultsOf(operation, {
    status,
    mediaType: contentType.split(';')[0] ?? '',
    body,
    isSparse: decodeURIComponent(query).includes('fields['),
  });
  if (faults.length > 0)
    throw new Error(`${method} ${path} is not answered as described: ${faults.join('; ')}`);
};
