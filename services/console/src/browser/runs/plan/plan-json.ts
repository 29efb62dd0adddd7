/** The members of a plan's redacted JSON that the console reads. */

/** An instance of what has conditions. */
export interface CheckedInstance {
  readonly address?: { readonly to_display?: string };
  readonly status?: string;
  readonly problems?: readonly { readonly message?: string }[];
}

/** A member of `checks` (format 1.1 and later). */
export interface CheckJson extends CheckedInstance {
  readonly instances?: readonly CheckedInstance[];
}

/** References of a part of the configuration. */
export interface Expression {
  readonly references?: readonly string[];
  readonly [block: string]: unknown;
}

export interface ConfiguredResource {
  /** Within its module. */
  readonly address: string;
  readonly expressions?: Readonly<Record<string, unknown>>;
  readonly count_expression?: Expression;
  readonly for_each_expression?: Expression;
  readonly depends_on?: readonly string[];
}

/** A module of the configuration with its references. */
export interface ConfiguredModule {
  readonly resources?: readonly ConfiguredResource[];
  readonly outputs?: Readonly<
    Record<string, { readonly expression?: Expression; readonly depends_on?: readonly string[] }>
  >;
  readonly module_calls?: Readonly<
    Record<
      string,
      {
        readonly expressions?: Readonly<Record<string, unknown>>;
        readonly count_expression?: Expression;
        readonly for_each_expression?: Expression;
        readonly depends_on?: readonly string[];
        readonly module?: ConfiguredModule;
      }
    >
  >;
}

export interface ChangeJson {
  readonly actions: readonly string[];
  readonly before?: unknown;
  readonly after?: unknown;
  readonly after_unknown?: unknown;
  readonly before_sensitive?: unknown;
  readonly after_sensitive?: unknown;
  readonly importing?: { readonly id?: unknown };
}

export interface ResourceJson {
  readonly address: string;
  readonly module_address?: string;
  readonly previous_address?: string;
  readonly action_reason?: string;
  readonly change: ChangeJson;
}

/** The members of the plan that the console reads. */
export interface PlanJson {
  readonly resource_changes?: readonly ResourceJson[];
  readonly resource_drift?: readonly ResourceJson[];
  readonly deferred_changes?: readonly {
    readonly reason?: string;
    readonly resource_change?: ResourceJson;
  }[];
  readonly output_changes?: Readonly<Record<string, ChangeJson>>;
  readonly checks?: readonly CheckJson[];
  /** The references of resources to others, as agents leave them. */
  readonly configuration?: { readonly root_module?: ConfiguredModule };
}
