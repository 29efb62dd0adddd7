import { rightsWithWords } from './team.ts';

export const RightFields = ({ given }: { given: Readonly<Record<string, boolean>> }) => (
  <fieldset>
    <legend>Rights on the whole organization</legend>
    {rightsWithWords(Object.keys(given)).map(([name, words]) => (
      <label className="choice" key={name}>
        <input type="checkbox" name={name} defaultChecked={given[name] === true} /> {words}
      </label>
    ))}
  </fieldset>
);
