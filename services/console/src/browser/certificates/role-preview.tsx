/** Preview, while a role is being edited, of how it would answer a request for a name. */
import { useState } from 'react';
import { Pill } from '../components/pill.tsx';
import { type NameRules, nameDecision, nameRules } from './role.ts';

export const RolePreview = ({ rules }: { rules: NameRules }) => {
  const [name, setName] = useState('www.example.com');
  const decision = nameDecision(rules, name.trim());
  return (
    <fieldset>
      <legend>What a request would get</legend>
      <ul className="plain-list" aria-label="Rules in words">
        {nameRules(rules).map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </ul>
      <label>
        Try a name
        <input
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
          // Prevents Enter from submitting the role.
          onKeyDown={(event) => {
            if (event.key === 'Enter') event.preventDefault();
          }}
        />
      </label>
      <p role="status" aria-label="Preview">
        <Pill tone={decision.isAllowed ? 'good' : 'bad'}>
          {decision.isAllowed ? 'issued' : 'refused'}
        </Pill>{' '}
        {decision.reason}
      </p>
    </fieldset>
  );
};
