/** Examples of successful answers, which the OpenAPI document shows with the operations. */

export interface AnswerExample {
  readonly status: number;
  /** The document of the answer. */
  readonly document: unknown;
}

/** By method and path as in the OpenAPI document: "LIST /{mount}/roles" has the key "LIST /roles" in pki. */
export type AnswerExamples = Readonly<Record<string, AnswerExample>>;

interface Content {
  readonly [mediaType: string]: object;
}

interface Operation {
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The operation with the example at the JSON content of its response; unchanged if it has no such content. */
const withExample = (operation: Operation, { status, document }: AnswerExample): Operation => {
  const response = operation.responses?.[status];
  const [mediaType, content] =
    Object.entries(response?.content ?? {}).find(([type]) => type.endsWith('json')) ?? [];
  if (mediaType === undefined) return operation;
  const shown = {
    ...response?.content,
    [mediaType]: { ...content, examples: { answer: { value: document } } },
  };
  return {
    ...operation,
    responses: { ...operation.responses, [status]: { ...response, content: shown } },
  };
};

/** @param paths operations by path and method, LIST as "x-list" */
export const withExamples = (
  paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  examples: AnswerExamples,
): Record<string, Record<string, unknown>> => {
  const exampleOf = (method: string, path: string): AnswerExample | undefined => {
    const name = method.replace('x-list', 'list').toUpperCase();
    // PUT is mostly the same operation as POST.
    return examples[`${name} ${path}`] ?? (name === 'PUT' ? examples[`POST ${path}`] : undefined);
  };
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]) => {
          const example = exampleOf(method, path);
          return [
            method,
            example === undefined ? operation : withExample(operation as Operation, example),
          ];
        }),
      ),
    ]),
  );
};
