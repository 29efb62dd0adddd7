import { FieldSet } from '../components/fields.tsx';
import { Choice } from '../editing/choice.tsx';
import { rightsWithWords } from './team.ts';

export const RightFields = ({ given }: { given: Readonly<Record<string, boolean>> }) => (
  <FieldSet>
    <legend>Rights on the whole organization</legend>
    {rightsWithWords(Object.keys(given)).map(([name, words]) => (
      <Choice key={name} name={name} isTicked={given[name] === true}>
        {words}
      </Choice>
    ))}
  </FieldSet>
);
