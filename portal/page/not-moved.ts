/** Names the companies that were not moved, with the reasons, before a person signs off. */
import { counted } from '../../domain/text/sentences';
import type { CompanyState } from '../client/api';
import { STATE_LABELS } from '../client/api';
import { eachCompany } from './api';
import { problemText, sentence } from './dialog';
import { el, type Child } from './elements';
import { inReadersZone } from './times';

const NOT_MOVED = ['must-reconnect', 'not-moved', 'left-out'] as const satisfies readonly CompanyState[];

export async function notMovedList(): Promise<readonly Child[]> {
  const rows: HTMLElement[] = [];
  try {
    for (const state of NOT_MOVED)
      for await (const { name, reference, problem } of eachCompany({ state }))
        rows.push(
          el(
            'li',
            {},
            el('strong', {}, name),
            ` (${reference}): ${STATE_LABELS[state].toLowerCase()}`,
            problem === null ? '.' : `. ${inReadersZone(sentence(problem))}`,
          ),
        );
  } catch (error) {
    return [el('p', { class: 'problem' }, `The companies that were not moved cannot be listed. ${problemText(error)}`)];
  }
  if (rows.length === 0) return [];
  return [
    el('h3', { id: 'not-moved-title' }, `${counted(rows.length, 'company')} not moved`),
    el('ul', { class: 'findings', tabindex: 0, 'aria-labelledby': 'not-moved-title' }, ...rows),
  ];
}
