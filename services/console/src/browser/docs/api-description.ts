/** An OpenAPI document as `/openapi/<api>.json` has it, and how its operations are found. */
import type { Schema } from './schema-fields.ts';

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

/** Content by media type. */
export type Content = Readonly<
  Record<
    string,
    {
      readonly schema?: Schema;
      readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
    }
  >
>;

export interface Answer {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

export interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
  /** Empty for an operation without a token. */
  readonly security?: readonly object[];
  /** Methods that do the same, such as LIST, which OpenAPI does not know. */
  readonly 'x-methods'?: readonly string[];
}

export interface ApiDescription {
  readonly info: { readonly title: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, Answer>>;
  };
}

export interface ListedOperation {
  /** In upper case. */
  readonly methods: readonly string[];
  readonly path: string;
  /** The part of the address after `#`, such as `get-/organizations`. */
  readonly anchor: string;
  readonly operation: Operation;
}

export const tagAnchor = (name: string): string => `tag--${name.replaceAll(/\s/g, '-')}`;

const anchorOf = (method: string, path: string): string =>
  `${method}-${path.replaceAll(/[\s#:?&={}]/g, '-')}`;

export const listOperations = ({ paths }: ApiDescription): readonly ListedOperation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      methods: operation['x-methods'] ?? [method.toUpperCase()],
      path,
      anchor: anchorOf(method, path),
      operation,
    })),
  );

/** Operations whose method, path, summary or capability contain every word of `text`. */
export const searchOperations = (
  operations: readonly ListedOperation[],
  text: string,
): readonly ListedOperation[] => {
  const words = text.toLowerCase().split(/\s+/);
  return operations.filter(({ methods, path, operation: { summary, tags = [] } }) => {
    const searched = [...methods, path, summary, ...tags].join(' ').toLowerCase();
    return words.every((word) => searched.includes(word));
  });
};

/** The answer itself, where an operation refers to one of the components. */
export const resolveAnswer = (answer: Answer, { components }: ApiDescription): Answer =>
  components.responses?.[answer.$ref?.split('/').at(-1) ?? ''] ?? answer;
