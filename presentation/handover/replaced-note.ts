/** The introduction of the report's section about companies whose application was replaced. */
import type { ApplicationsOfMoved } from '../../domain/preflight/applications';
import { applicationName, remedyForReplaced, replacedRemedyText } from '../../domain/preflight/applications';
import { sentence } from '../wording/status-line';

/** Says what helps the companies of each replaced application, as under "What you need to do". */
export function replacedNote(applications: ApplicationsOfMoved): string {
  const remedies = applications.replaced.map((each) => {
    const text = `${sentence(replacedRemedyText(remedyForReplaced(each, applications, 'client')))}.`;
    return applications.replaced.length === 1 ? text : `Connected with ${applicationName(each.application)}: ${text}`;
  });
  return ['The service can no longer refresh the tokens of these companies.', ...remedies].join(' ');
}
