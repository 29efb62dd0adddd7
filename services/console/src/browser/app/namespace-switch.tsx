import { withThoseAbove } from '../api/namespaces-above.ts';
import { useSecret } from '../api/queries.ts';
import { changeSession, readSession, useSession } from '../api/session.ts';
import { Label, SelectField } from '../components/fields.tsx';
import { Unseen } from '../components/text.tsx';
import styles from './namespace-switch.module.css';

/** Offers the root, the parent namespaces, the current one and those directly below it. */
export const NamespaceSwitch = () => {
  const { namespace } = useSession();
  const { data } = useSecret<{ keys?: readonly string[] }>('sys/internal/ui/namespaces');
  const below = (data?.keys ?? []).map((key) =>
    [namespace, key.replace(/\/$/, '')].filter(Boolean).join('/'),
  );
  const choices = [...withThoseAbove(namespace).toReversed(), ...below];
  return (
    <Label className={styles['namespace']}>
      <Unseen>Namespace</Unseen>
      <SelectField
        className={styles['field']}
        value={namespace}
        onChange={({ target }) => changeSession({ ...readSession(), namespace: target.value })}
      >
        {[...new Set(choices)].map((path) => (
          <option key={path} value={path}>
            {path === '' ? 'root namespace' : path}
          </option>
        ))}
      </SelectField>
    </Label>
  );
};
