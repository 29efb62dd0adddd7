/** The operation token that authorizes a change of a DR secondary, on which nobody is signed in. */
import type { Fields } from '../components/action-button.tsx';
import { Input, Label } from '../components/fields.tsx';
import type { Kind } from './role-change.tsx';

export const OperationTokenField = ({ kind }: { kind: Kind }) =>
  kind === 'dr' && (
    <Label>
      Operation token
      <Input name="operation" type="password" required autoComplete="off" />
    </Label>
  );

/** The field's part of a request's body; a performance secondary needs none. */
export const operationTokenIn = (kind: Kind, { text }: Pick<Fields, 'text'>): object =>
  kind === 'dr' ? { dr_operation_token: text('operation').trim() } : {};

/** The same in commands to copy. */
export const operationTokenShown = (kind: Kind): object =>
  kind === 'dr' ? { dr_operation_token: '…' } : {};
