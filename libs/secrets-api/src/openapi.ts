/** OpenAPI 3.1 Operation Objects from declared fields. */
import type { EdgeMethod } from '@keelson/edge';
import type { Fields } from './fields.ts';

export interface DescribedOperation {
  readonly method: EdgeMethod;
  readonly path: string;
  readonly tag: string;
  readonly fields: Fields;
  readonly summary: string;
  readonly description?: string | undefined;
}

const parameterNames = (path: string): readonly string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');

const isRequired = (fields: Fields, name: string): boolean => fields[name]?.required === true;

/** Path parameters come from the path, the others from the body of writes and the query of the rest. */
export const describeOperation = (operation: DescribedOperation): Record<string, unknown> => {
  const { method, path, fields } = operation;
  const captured = parameterNames(path);
  const others = Object.keys(fields).filter((name) => !captured.includes(name));
  const writes = method === 'POST' || method === 'PUT' || method === 'PATCH';
  const parameter = (name: string, place: 'path' | 'query') => ({
    name,
    in: place,
    required: place === 'path' || isRequired(fields, name),
    description: fields[name]?.description ?? '',
    schema: fields[name]?.schema ?? { type: 'string' },
  });
  const required = others.filter((name) => isRequired(fields, name));
  return {
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [operation.tag],
    parameters: [
      ...captured.map((name) => parameter(name, 'path')),
      ...(path.includes('*') ? [{ ...parameter('path', 'path') }] : []),
      ...(writes ? [] : others.map((name) => parameter(name, 'query'))),
    ],
    ...(writes && others.length > 0
      ? {
          requestBody: {
            content: {
              [method === 'PATCH' ? 'application/merge-patch+json' : 'application/json']: {
                schema: {
                  type: 'object',
                  properties: Object.fromEntries(
                    others.map((name) => [
                      name,
                      { ...fields[name]?.schema, description: fields[name]?.description },
                    ]),
                  ),
                  ...(required.length > 0 && method !== 'PATCH' ? { required } : {}),
                },
              },
            },
          },
        }
      : {}),
    responses: {
      '200': { description: 'The answer in the envelope.' },
      ...(method === 'GET' || method === 'LIST' ? {} : { '204': { description: 'Done.' } }),
    },
  };
};
