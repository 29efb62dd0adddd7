/** The parameters that the template of a path names. */

type Segment<Text extends string> = Text extends `:${infer Name}` ? Name : never;

type NameIn<Path extends string> = Path extends `${infer First}/${infer Rest}`
  ? Segment<First> | NameIn<Rest>
  : Segment<Path>;

/**
 * The percent-decoded values of the parameters: `{ workspace_id: string }` of `/workspaces/:workspace_id/runs`; of
 * one of several templates, the parameters of one of them. A template that the compiler does not know may have any
 * parameter.
 */
export type ParamsOf<Path extends string> = Path extends unknown
  ? string extends Path
    ? Readonly<Record<string, string>>
    : { readonly [Name in NameIn<Path>]: string }
  : never;
