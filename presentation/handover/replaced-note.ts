/** The introduction of the report's section about companies whose application was replaced. */
import {
  applicationName,
  remedyForReplaced,
  replacedRemedyText,
  type ApplicationsOfMoved,
} from '../../domain/preflight/applications';
import { sentence } from '../../domain/text/sentences';

/** Says what helps the companies of each replaced application, as under "What you need to do". */
export function replacedNote(applications: ApplicationsOfMoved): string {
  const remedies = applications.replaced.map((each) => {
    const text = `${sentence(replacedRemedyText(remedyForReplaced(each, applications, 'client')))}.`;
    return applications.replaced.length === 1 ? text : `Connected with ${applicationName(each.application)}: ${text}`;
  });
  const companies = applications.replaced.reduce((sum, each) => sum + each.companies, 0);
  const which = companies === 1 ? 'this company' : 'these companies';
  return [`The service can no longer refresh the tokens of ${which}.`, ...remedies].join(' ');
}
