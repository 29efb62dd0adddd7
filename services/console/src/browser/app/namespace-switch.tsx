import { useSecret } from '../api/queries.ts';
import { changeSession, readSession, useSession } from '../api/session.ts';
import { Label, SelectField } from '../components/fields.tsx';
import { Unseen } from '../components/text.tsx';
import styles from './namespace-switch.module.css';

/** The namespaces above a path, without the root: "a", "a/b" for "a/b/c". */
const ancestorsOf = (path: string): readonly string[] => {
  const parts = path.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
};

/** Offers the root, the parent namespaces, the current one and those directly below it. */
export const NamespaceSwitch = () => {
  const { namespace } = useSession();
  const { data } = useSecret<{ keys?: readonly string[] }>('sys/internal/ui/namespaces');
  const below = (data?.keys ?? []).map((key) =>
    [namespace, key.replace(/\/$/, '')].filter(Boolean).join('/'),
  );
  const choices = ['', ...ancestorsOf(namespace), namespace, ...below];
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
