import { expectTypeOf, test } from 'vitest';
import type { ParamsOf } from './path-parameters.ts';

test('the template of a path names its parameters', () => {
  expectTypeOf<ParamsOf<'/workspaces'>>().toEqualTypeOf<Readonly<Record<never, never>>>();
  expectTypeOf<ParamsOf<'/workspaces/:workspace_id/vars/:variable_id'>>().toEqualTypeOf<{
    readonly workspace_id: string;
    readonly variable_id: string;
  }>();
  expectTypeOf<ParamsOf<'/vars/:variable_id' | '/varsets/:varset_id'>>().toEqualTypeOf<
    { readonly variable_id: string } | { readonly varset_id: string }
  >();
  expectTypeOf<ParamsOf<string>>().toEqualTypeOf<Readonly<Record<string, string>>>();
});
