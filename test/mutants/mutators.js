/** Small faults that somebody could have written into a source file, each as a change of its text. */
import ts from 'typescript';

/** @typedef {{at: number, end: number, text: string}} Mutant `text` in place of what stands from `at` to `end` */

const { SyntaxKind } = ts;

/** @type {Record<string, string>} */
const OPERATORS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '+=': '-=',
  '-=': '+=',
};

/** @param {string} source JavaScript @returns {Mutant[]} in the order of the text; each parses */
export function mutantsOf(source) {
  const file = ts.createSourceFile('source.js', source, ts.ScriptTarget.Latest, true);
  /** @type {Mutant[]} */
  const mutants = [];
  /** @param {ts.Node} node @param {string} text */
  const add = (node, text) => mutants.push({ at: node.getStart(), end: node.getEnd(), text });
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const other = OPERATORS[node.operatorToken.getText()];
      const isText = [node.left, node.right].some(
        (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
      );
      if (other !== undefined && !isText) add(node.operatorToken, other);
    } else if (ts.isNumericLiteral(node)) {
      add(node, /^\d+$/.test(node.text) ? String(Number(node.text) + 1) : `(${node.getText()} + 1)`);
    } else if (node.kind === SyntaxKind.TrueKeyword) add(node, 'false');
    else if (node.kind === SyntaxKind.FalseKeyword) add(node, 'true');
    else if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) {
      add(node, node.operand.getText());
    } else if (ts.isConditionalExpression(node)) {
      add(node, `${node.condition.getText()} ? ${node.whenFalse.getText()} : ${node.whenTrue.getText()}`);
    } else if (ts.isIfStatement(node)) {
      add(node.expression, `!(${node.expression.getText()})`);
    } else if (ts.isExpressionStatement(node) && ts.isCallExpression(node.expression)) add(node, ';');
    else if (ts.isReturnStatement(node) && node.expression !== undefined && !isNothing(node.expression))
      add(node, 'return undefined;');
    ts.forEachChild(node, visit);
  };
  visit(file);
  return mutants.sort((a, b) => a.at - b.at || a.end - b.end);
}

/** What is falsy anyway is as good as undefined to most callers. @param {ts.Expression} expression */
function isNothing(expression) {
  return ['false', 'null', 'undefined'].includes(expression.getText());
}
