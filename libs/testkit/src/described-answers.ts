/**
 * Compares answers with the answers that an OpenAPI document describes: status, media type and schema, which is
 * read strictly. A member that the schema does not name is a fault wherever it names some.
 */
import { join } from 'node:path';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { ExampleRecorder } from './answer-examples/recorded-examples.ts';

export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly unevaluatedProperties?: unknown;
}

interface DescribedResponse {
  readonly $ref?: string;
  readonly content?: Readonly<
    Record<
      string,
      {
        readonly schema?: Schema;
        readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
      }
    >
  >;
}

export interface DescribedOperation {
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly required: boolean }[];
  readonly responses: Readonly<Record<string, DescribedResponse>>;
  readonly 'x-methods'?: readonly string[];
}

export interface DescribedApi {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, DescribedResponse>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

export interface ObservedAnswer {
  readonly status: number;
  /** Without parameters. */
  readonly mediaType: string;
  readonly body: string;
  /** Whether the request asked for some attributes and relationships only. */
  readonly isSparse?: boolean;
}

/** Components as parts of an `allOf`, which may name further members. */
const PARTS = '#/components/parts/';
const SCHEMAS = '#/components/schemas/';

/** The schema that allows nothing it does not name. A part of an `allOf` leaves that to the whole. */
const closed = (schema: unknown, isPart = false): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => closed(one));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { allOf, ...others } = schema as Schema;
  const members = Object.entries(others).map(([name, member]) => [name, closed(member)] as const);
  const whole = Object.fromEntries(members) as Schema;
  if (allOf !== undefined)
    return {
      ...whole,
      allOf: allOf.map((part) => closed(part, true)),
      ...(isPart ? {} : { unevaluatedProperties: false }),
    };
  if (isPart && whole.$ref !== undefined)
    return { ...whole, $ref: whole.$ref.replace(SCHEMAS, PARTS) };
  const names = Object.keys(whole.properties ?? {});
  return isPart || names.length === 0 || whole.additionalProperties !== undefined
    ? whole
    : { ...whole, additionalProperties: false };
};

/** The schema without required members. */
const withoutRequired = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(withoutRequired);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { required: _required, ...others } = schema as Schema;
  return Object.fromEntries(
    Object.entries(others).map(([name, member]) => [name, withoutRequired(member)]),
  );
};

const OTHER_TYPE = /^#\/components\/schemas\/\w+(?=\/properties\/type\/enum$)/;

/** Without those about resource types of an `anyOf` other than that of the resource. */
const relevant = (errors: readonly ErrorObject[]): readonly ErrorObject[] => {
  const others = errors.flatMap(({ schemaPath, instancePath }) => {
    const [component] = OTHER_TYPE.exec(schemaPath) ?? [];
    const at = instancePath.slice(0, -'/type'.length);
    return component === undefined ? [] : [{ component: `${component}/`, at }];
  });
  const left = errors.filter(
    ({ schemaPath, instancePath, keyword }) =>
      keyword !== 'anyOf' &&
      !others.some(
        ({ component, at }) => schemaPath.startsWith(component) && instancePath.startsWith(at),
      ),
  );
  return left.length === 0 ? errors : left;
};

const toText = ({ instancePath, message, params }: ErrorObject): string => {
  const { additionalProperty, unevaluatedProperty, allowedValues } = params as {
    readonly additionalProperty?: string;
    readonly unevaluatedProperty?: string;
    readonly allowedValues?: unknown;
  };
  const name = additionalProperty ?? unevaluatedProperty;
  if (name !== undefined) return `${instancePath}/${name} is not described`;
  const values = allowedValues === undefined ? '' : `: ${JSON.stringify(allowedValues)}`;
  return `${instancePath} ${message}${values}`;
};

const isAt = (template: readonly string[], path: readonly string[]): boolean =>
  template.length === path.length &&
  template.every((part, index) => part.startsWith('{') || part === path[index]);

export interface AnswerComparison {
  /** The path of the document that a request has, without the parameter before all paths of an engine. */
  templateOf(this: void, path: string): string;
  /** The operation of a request, by its method in capitals and its path below the server. */
  operationAt(this: void, method: string, path: string): DescribedOperation | undefined;
  /** How the answer differs from the description. */
  faultsOf(this: void, operation: DescribedOperation, answer: ObservedAnswer): readonly string[];
}

export const compareAnswers = (api: DescribedApi): AnswerComparison => {
  const { schemas, responses } = api.components;
  const each = (change: (schema: Schema) => unknown) =>
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema)]));
  const strict = {
    schemas: each((schema) => closed(schema)),
    parts: each((schema) => closed(schema, true)),
  };
  const roots = { strict, sparse: withoutRequired(strict) };
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (schema: Schema, isSparse: boolean): ValidateFunction => {
    const key = JSON.stringify([schema, isSparse]);
    const known = validators.get(key);
    if (known !== undefined) return known;
    const whole = closed(schema) as Schema;
    const root = isSparse
      ? { components: roots.sparse, ...(withoutRequired(whole) as Schema) }
      : { components: roots.strict, ...whole };
    const validator = ajv.compile(root);
    validators.set(key, validator);
    return validator;
  };

  const templates = Object.entries(api.paths)
    .map(([template, item]) => ({
      item,
      parameters: template.split('{').length,
      parts: template.split('/'),
    }))
    // Names come before parameters.
    .toSorted((a, b) => a.parameters - b.parameters);

  const templateAt = (path: string) => templates.find(({ parts }) => isAt(parts, path.split('/')));
  return {
    templateOf: (path) => (templateAt(path)?.parts ?? []).join('/').replace(/^\/\{mount\}/, ''),
    operationAt: (method, path) => {
      const item = templateAt(path)?.item ?? {};
      return (
        item[method.toLowerCase()] ??
        Object.values(item).find((operation) => operation['x-methods']?.includes(method))
      );
    },
    faultsOf: (operation, { status, mediaType, body, isSparse = false }) => {
      // Only headers are sent.
      if (status === 304) return [];
      const found =
        operation.responses[status] ??
        operation.responses[`${Math.trunc(status / 100)}XX`] ??
        operation.responses['default'];
      const name = found?.$ref?.slice('#/components/responses/'.length);
      const described = name === undefined ? found : responses[name];
      if (described === undefined) return [`status ${status} is not described`];
      if (described.content === undefined)
        return body === '' ? [] : [`${status} has content of type ${mediaType}, none is described`];
      const content = described.content[mediaType];
      if (content === undefined)
        return [
          `${status} has the type "${mediaType}", not ${Object.keys(described.content).join()}`,
        ];
      if (content.schema === undefined || !mediaType.endsWith('json')) return [];
      const validate = validatorOf(content.schema, isSparse);
      return validate(JSON.parse(body)) ? [] : relevant(validate.errors ?? []).map(toText);
    },
  };
};

export interface AnsweredRequest {
  readonly method: string;
  /** Below the server of the document. */
  readonly path: string;
  readonly query: string;
  readonly status: number;
  /** With parameters. */
  readonly contentType: string;
  readonly body: string;
}

/** The part of a service that describes it. */
export interface Described<Description> {
  describe(): Promise<Description>;
}

/** Folder to which answers are written as examples (`answer-examples/main.ts`). */
const RECORDED = process.env['RECORDED_EXAMPLES'];

/**
 * Checks of answers for the harness of a service.
 * @param toDocument makes the OpenAPI document, once: all services of a process have the same
 * @returns throws if an answer is not as described; requests without an operation are not checked
 */
export const answerCheck = <Description extends { readonly service: string }>(
  toDocument: (description: Description) => object,
) => {
  let comparison: Promise<AnswerComparison> | undefined;
  let recorder: ExampleRecorder | undefined;
  return async (service: Described<Description>, answered: AnsweredRequest): Promise<void> => {
    const { method, path, query, status, contentType, body } = answered;
    comparison ??= readDescribed(service, toDocument).then(compareAnswers);
    const { operationAt, faultsOf, templateOf } = await comparison;
    const operation = operationAt(method, path);
    // A HEAD request has the operation of GET, without its content.
    if (operation === undefined || method === 'HEAD') return;
    const faults = faultsOf(operation, {
      status,
      mediaType: contentType.split(';')[0] ?? '',
      body,
      isSparse: [...new URLSearchParams(query).keys()].some((name) => name.startsWith('fields[')),
    });
    if (faults.length > 0)
      throw new Error(`${method} ${path} is not answered as described: ${faults.join('; ')}`);
    if (RECORDED === undefined || query.includes('fields') || !contentType.includes('json')) return;
    recorder ??= new ExampleRecorder(join(RECORDED, (await service.describe()).service));
    const name = operation['x-methods']?.includes('POST') === true ? 'POST' : method;
    recorder.record(`${name} ${templateOf(path)}`, status, body);
  };
};

/** The document of a service as clients read it. */
export const readDescribed = async <Description>(
  service: Described<Description>,
  toDocument: (description: Description) => object,
): Promise<DescribedApi> =>
  JSON.parse(JSON.stringify(toDocument(await service.describe()))) as DescribedApi;
