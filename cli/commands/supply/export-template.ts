import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { isRotating, type Platform } from '../../../platforms/platforms';
import { CommandFailed } from '../../shared/errors';
import { TEMPLATE_FORMATS, templatesOf, templateText, type TemplateFormat } from '../../manifest';
import { PRINT_NOTHING, type CommandResult } from '../../terminal/output';
import { defaultRoute } from '../../starting/account-check';
import type { Context } from '../../shared/context';
import { platformOption, choiceOption } from '../../options/options';
import { shellQuoted } from '../../../domain/text/shell-quoted';

interface TemplateOptions {
  readonly platform: Platform;
  readonly format: TemplateFormat;
}

export function addExportTemplate({ program, run }: Context): void {
  program
    .command('export-template [folder]')
    .description('Write a manifest and a credential file to fill in, with the columns of the platform')
    .addOption(platformOption('both'))
    .addOption(choiceOption('--format <format>', 'format of the files', TEMPLATE_FORMATS).default('csv'))
    .action((folder: string | undefined, options: TemplateOptions) =>
      run(async () => exportTemplates(folder ?? '.', options)),
    );
}

function exportTemplates(folder: string, { platform, format }: TemplateOptions): CommandResult {
  const route = defaultRoute(platform);
  const templates = templatesOf(platform, route).map((template) => ({
    ...template,
    file: path.join(folder, `${template.name}.${format}`),
  }));
  const existing = templates.find(({ file }) => existsSync(file));
  if (existing) throw new CommandFailed(`${existing.file} already exists`, 'choose another folder');
  for (const template of templates) write(template.file, templateText(template, format));
  const words = templates.map(({ file }) => shellQuoted(file));
  return {
    json: {
      schema: 'ferry.export-template/1',
      platform: platform.slug,
      route,
      files: templates.map(({ file, columns }) => ({ file, columns })),
    },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      for (const { file, columns } of templates) {
        output.line(`${output.styled('green', '✓')} ${file}`);
        output.table(
          [{ title: 'Column', unbroken: true }, '', 'Content'],
          columns.map(({ name, required, description }) => [name, required ? 'required' : '', description]),
        );
        output.line();
      }
      const check = `ferry check ${words[0]} -p ${platform.slug}`;
      if (route === 'managed' && isRotating(platform)) {
        output.line(`Fill in the manifest, then check it with: ${check}`);
        output.line(
          `Fill in ${words[1]} only after the client has confirmed that syncing is off: credentials from before are not used.`,
        );
      } else output.line(`Fill in the files, then check them with: ${check} --credentials ${words[1]}`);
    },
  };
}

/** @throws CommandFailed */
function write(file: string, text: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    // Readable only by its owner, because the completed file can contain credentials.
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it cannot be written';
    throw new CommandFailed(`${file} cannot be written: ${why}`, 'choose a folder that you can write to', {
      cause: error,
    });
  }
}
