/**
 * Routes of /v1 endpoints: parse the request as declared, call the handler, and put its result into the
 * envelope.
 */
import type { EdgeMethod, EdgeResponse, Route, RouteExchange } from '@keelson/edge';
import type { Namespace } from '@keelson/proto/edge/v1/edge';
import { isEmptyList, nothingFound, renderAnswer } from './answers.ts';
import { isJsonObject, type JsonObject } from './coercions.ts';
import { type Fields, readFields, readPatchFields } from './fields.ts';
import { PAGE_FIELDS, type PageChoice, pageOfAnswer } from './list-pages.ts';
import { describeOperation, parameterNames } from './openapi.ts';
import {
  type ListOperation,
  METHODS_OF,
  type Operation,
  type OperationContext,
  type Operations,
} from './operations.ts';
import { readBody, readPatch, readQuery } from './request-data.ts';

export interface SecretsRoutes<F extends Fields> {
  /** `/roles/:name`; a trailing slash in the request is ignored. */
  readonly path: string;
  /** Groups the operations in the OpenAPI document. */
  readonly tag: string;
  readonly fields: F;
  /**
   * Whether the fields that the path does not capture are settings, which only POST, PUT and PATCH take. GET, LIST and
   * DELETE then have the parameters of the path alone.
   */
  readonly hasSettings?: true;
  readonly operations: Operations<F>;
}

const ROOT: Namespace = { id: 'root', path: '' };

const readData = async (method: EdgeMethod, exchange: RouteExchange): Promise<JsonObject> => {
  if (method === 'PATCH') return readPatch(exchange);
  if (method === 'POST' || method === 'PUT') return readBody(exchange);
  const query = readQuery(exchange);
  // Clients cancel ceremonies by DELETE with a nonce in the body.
  return method === 'DELETE' ? { ...(await readBody(exchange)), ...query } : query;
};

/** Names that are not declared, those in objects with a dot. Null means that a parameter is not given. */
const undeclared = (sent: JsonObject, fields: Fields): string[] =>
  Object.entries(sent).flatMap(([name, value]) => {
    if (value === null) return [];
    const declared = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (declared === undefined) return [name];
    return declared.members !== undefined && isJsonObject(value)
      ? undeclared(value, declared.members).map((member) => `${name}.${member}`)
      : [];
  });

/** Warnings about parameters that had no effect; names sorted. */
const parameterWarnings = (
  sent: JsonObject,
  fields: Fields,
  params: Readonly<Record<string, string>>,
  anyParameters: boolean,
): string[] => {
  const names = Object.keys(sent);
  if (names.length === 0) return [];
  const warnings: string[] = [];
  const replaced = names.filter(
    (name) => Object.hasOwn(params, name) && sent[name] !== params[name],
  );
  const unknown = anyParameters
    ? []
    : undeclared(sent, fields).filter((name) => !Object.hasOwn(params, name));
  if (unknown.length > 0)
    warnings.push(`Endpoint ignored these unrecognized parameters: [${unknown.sort().join(' ')}]`);
  if (replaced.length > 0)
    warnings.push(
      `Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [${replaced.sort().join(' ')}]`,
    );
  return warnings;
};

const present = (data: JsonObject, countNull: boolean): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const name of Object.keys(data)) if (countNull || data[name] !== null) names.add(name);
  return names;
};

/** The fields of a method that are declared for the path. */
const declaredFieldsOf = <F extends Fields>(
  { path, fields, hasSettings }: SecretsRoutes<F>,
  method: EdgeMethod,
): Fields => {
  if (hasSettings !== true || method === 'POST' || method === 'PUT' || method === 'PATCH')
    return fields;
  const captured = parameterNames(path);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => captured.includes(name)));
};

/** The fields that a method takes. */
const fieldsOf = <F extends Fields>(declared: SecretsRoutes<F>, method: EdgeMethod): Fields => {
  const fields = declaredFieldsOf(declared, method);
  return method === 'LIST' ? { ...fields, ...PAGE_FIELDS } : fields;
};

/** A list operation whose answer is the page that the request asks for. */
const inPages = (operation: ListOperation<never>): Operation<never> =>
  operation.pagesItself === true
    ? operation
    : {
        ...operation,
        handle: async (context) => {
          const result = await operation.handle(context);
          return result && pageOfAnswer(result, context.fields as PageChoice);
        },
      };

const toRoute = (
  declared: Pick<SecretsRoutes<Fields>, 'path' | 'tag' | 'fields'>,
  method: EdgeMethod,
  // The type of a handler's values differs only for PATCH, which is chosen below by the same method.
  operation: Operation<never>,
): Route => ({
  method,
  path: declared.path,
  operation: () =>
    describeOperation({
      method,
      path: declared.path,
      tag: declared.tag,
      fields: declared.fields,
      summary: operation.summary,
      description: operation.description,
      answer: operation.answer,
    }),
  handle: async (exchange): Promise<EdgeResponse> => {
    const { head, params } = exchange;
    const sent = await readData(method, exchange);
    const data: JsonObject = { ...sent, ...params };
    const patches = method === 'PATCH';
    const ignored = parameterWarnings(
      sent,
      declared.fields,
      params,
      operation.anyParameters === true,
    );
    const warnings: string[] = [];
    const context: OperationContext<unknown> = {
      head,
      params,
      fields: patches ? readPatchFields(declared.fields, data) : readFields(declared.fields, data),
      given: present(data, patches),
      data,
      warnings,
      mount: head.mount,
      caller: head.caller,
      namespace: head.namespace ?? ROOT,
      dialect: head.dialect,
      request: exchange,
    };
    const result = await operation.handle(context as OperationContext<never>);
    if (method === 'GET' || method === 'LIST') {
      if (result === undefined) return nothingFound();
      if (method === 'LIST' && warnings.length === 0 && isEmptyList(result)) return nothingFound();
    }
    return renderAnswer(result, exchange, [...warnings, ...ignored]);
  },
});

/** The routes of one path, one for each method. */
export const secretsRoutes = <const F extends Fields>(declared: SecretsRoutes<F>): Route[] =>
  (Object.keys(METHODS_OF) as (keyof typeof METHODS_OF)[]).flatMap((name) => {
    const { list } = declared.operations;
    const operation = name === 'list' ? list && inPages(list) : declared.operations[name];
    return operation === undefined
      ? []
      : METHODS_OF[name].map((method) =>
          toRoute({ ...declared, fields: fieldsOf(declared, method) }, method, operation),
        );
  });
