/**
 * The text of each `sql<Row>`, `allRows<Row>` and `oneRow<Row>` names all fields of `Row`. TypeScript cannot check it.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.join(__dirname, '../..');
const STORE = path.join(ROOT, 'store');

const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => path.join(STORE, name));
const program = ts.createProgram(files, { strict: true, target: ts.ScriptTarget.ES2023, skipLibCheck: true });
const checker = program.getTypeChecker();

interface Statement {
  readonly place: string;
  readonly fields: readonly string[];
  readonly text: string;
}

/** Returns the text of a statement, and the text of the constants and functions that it uses. */
function textOf(node: ts.Node, seen = new Set<ts.Node>()): string {
  const used: string[] = [];
  const visit = (each: ts.Node): void => {
    if (ts.isIdentifier(each)) {
      const symbol = checker.getSymbolAtLocation(each);
      const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      for (const declaration of target?.declarations ?? []) {
        const isOurs = declaration.getSourceFile().fileName.startsWith(STORE);
        const isText = ts.isVariableDeclaration(declaration) || ts.isFunctionDeclaration(declaration);
        if (!isOurs || !isText || seen.has(declaration)) continue;
        seen.add(declaration);
        used.push(textOf(declaration, seen));
      }
    }
    ts.forEachChild(each, visit);
  };
  visit(node);
  return [node.getText(), ...used].join('\n');
}

/**
 * Returns false for optional properties, and for properties of library types such as `Date`, because the type in
 * `sql<Date>` is that of a single value, not of a row.
 */
function isRequiredAndOurs(property: ts.Symbol): boolean {
  const isOurs = property.declarations?.some((each) => !each.getSourceFile().fileName.includes('/node_modules/'));
  return isOurs === true && !(property.flags & ts.SymbolFlags.Optional);
}

/** Returns the type of the rows of a statement; undefined if the template is no statement, or states no type. */
function rowTypeOf({ tag, typeArguments }: ts.TaggedTemplateExpression): ts.TypeNode | undefined {
  if (tag.getText() === 'sql') return typeArguments?.[0];
  return ts.isCallExpression(tag) && ['allRows', 'oneRow'].includes(tag.expression.getText())
    ? tag.typeArguments?.[0]
    : undefined;
}

function statementsOf(source: ts.SourceFile): readonly Statement[] {
  const found: Statement[] = [];
  const visit = (node: ts.Node): void => {
    const rowType = ts.isTaggedTemplateExpression(node) ? rowTypeOf(node) : undefined;
    if (ts.isTaggedTemplateExpression(node) && rowType) {
      const row = checker.getTypeFromTypeNode(rowType);
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      const fields = checker.getPropertiesOfType(row).filter(isRequiredAndOurs);
      found.push({
        place: `${path.relative(ROOT, source.fileName)}:${line + 1}`,
        fields: fields.map(({ name }) => name),
        text: textOf(node.template),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const statements = program
  .getSourceFiles()
  .filter(({ fileName }) => files.includes(fileName))
  .flatMap(statementsOf);

test('every statement contains the names of all fields of its rows', () => {
  expect(statements.filter(({ fields }) => fields.length > 0).length).toBeGreaterThan(30);
  const missing = statements.flatMap(({ place, fields, text }) =>
    fields.filter((field) => !new RegExp(`\\b${field}\\b`).test(text)).map((field) => `${place}: ${field}`),
  );
  expect(missing).toEqual([]);
});
