// oomdb show: what a rule, a view or a table means, and its SQL.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "queries/catalogue.h"
#include "render/terminal.h"
#include "schema/describe.h"
#include "schema/migrations.h"

namespace oomdb::cli {
namespace {

constexpr size_t kLabelWidth = 12;

class Page {
 public:
  Page(std::ostream& out, const render::TableOptions& look)
      : out_(out), width_(std::min<size_t>(look.width, 110)), color_(look.color) {}

  void Title(const std::string& name, const std::string& title) {
    out_ << render::Paint(render::Style::kBold, name, color_) << "\n";
    for (const std::string& line : render::Wrap(title, width_)) out_ << line << "\n";
  }

  // Nothing for an empty text.
  void Paragraph(std::string_view label, const std::string& text) {
    if (text.empty()) return;
    const std::vector<std::string> lines = render::Wrap(text, width_ - kLabelWidth);
    for (size_t i = 0; i < lines.size(); ++i) {
      out_ << (i == 0 ? render::Paint(render::Style::kDim, render::PadRight(label, kLabelWidth),
                                      color_)
                      : std::string(kLabelWidth, ' '))
           << lines[i] << "\n";
    }
  }

  void Columns(const std::vector<queries::ColumnMeaning>& columns) {
    size_t widest = 0;
    for (const queries::ColumnMeaning& column : columns)
      widest = std::max(widest, column.name.size());
    const size_t indent = widest + 4;
    out_ << "\n" << render::Paint(render::Style::kDim, "columns", color_) << "\n";
    for (const queries::ColumnMeaning& column : columns) {
      const std::vector<std::string> lines =
          render::Wrap(column.meaning, width_ > indent + 20 ? width_ - indent : 20);
      for (size_t i = 0; i < lines.size(); ++i) {
        out_ << (i == 0 ? "  " + render::PadRight(column.name, widest) + "  "
                        : std::string(indent, ' '))
             << lines[i] << "\n";
      }
    }
  }

  void Sql(const std::string& sql) {
    out_ << "\n" << render::Paint(render::Style::kDim, "SQL", color_) << "\n" << sql << ";\n";
  }

  void Gap() { out_ << "\n"; }

 private:
  std::ostream& out_;
  const size_t width_;
  const bool color_;
};

// What a rule or view says of itself, but its columns; what is empty is not said.
std::vector<std::pair<std::string, std::string>> Paragraphs(const queries::CatalogueEntry& entry) {
  return {{"asks", entry.asks},
          {"needs", entry.needs},
          {"severity", entry.severity},
          {"cause", entry.cause},
          {"how to read", entry.how_to_read},
          {"tags", entry.tags},
          {"next", entry.next}};
}

std::string Sql(const queries::CatalogueEntry& entry) {
  return fmt::format("CREATE VIEW {} AS\n{}", entry.id, entry.select);
}

void ShowView(Page& page, const queries::CatalogueEntry& entry) {
  page.Title(entry.id, entry.title);
  page.Gap();
  for (const auto& [label, text] : Paragraphs(entry)) page.Paragraph(label, text);
  page.Columns(entry.columns);
  page.Sql(Sql(entry));
}

std::vector<queries::ColumnMeaning> Columns(const schema::TableDescription& table) {
  std::vector<queries::ColumnMeaning> columns;
  for (const schema::ColumnDescription& column : table.columns)
    columns.push_back({column.name, column.meaning});
  return columns;
}

void ShowTable(Page& page, const schema::TableDescription& table) {
  page.Title(table.name, table.meaning);
  page.Columns(Columns(table));
  page.Sql(table.sql);
}

std::string_view KindName(queries::ViewKind kind) {
  switch (kind) {
    case queries::ViewKind::kRule:
      return "rule";
    case queries::ViewKind::kItems:
      return "items";
    case queries::ViewKind::kRemedies:
      return "remedies";
    default:
      return "view";
  }
}

void AddColumns(const std::vector<queries::ColumnMeaning>& columns, const std::string& sql,
                nlohmann::ordered_json& json) {
  json["columns"] = nlohmann::ordered_json::array();
  for (const queries::ColumnMeaning& column : columns) {
    json["columns"].push_back({{"name", column.name}, {"meaning", column.meaning}});
  }
  json["sql"] = sql;
}

nlohmann::ordered_json ViewJson(const queries::CatalogueEntry& entry) {
  nlohmann::ordered_json json = {{"name", entry.id}, {"kind", KindName(entry.kind)}};
  if (!entry.path.empty()) json["file"] = "queries/" + entry.path;
  if (!entry.title.empty()) json["title"] = entry.title;
  for (auto [key, text] : Paragraphs(entry)) {
    std::replace(key.begin(), key.end(), ' ', '_');
    if (!text.empty()) json[key] = text;
  }
  AddColumns(entry.columns, Sql(entry), json);
  return json;
}

nlohmann::ordered_json TableJson(const schema::TableDescription& table) {
  nlohmann::ordered_json json = {{"name", table.name}, {"kind", "table"}, {"title", table.meaning}};
  AddColumns(Columns(table), table.sql, json);
  return json;
}

struct Options {
  std::string name;
  std::string format = "text";
  std::string color = "auto";
};

void Run(const Options& options) {
  const bool json = options.format == "json";
  if (!json && options.format != "text") {
    throw Error(fmt::format("--format {}: text or json expected", options.format),
                ExitCode::kUsage);
  }
  OutputOptions output_options;
  output_options.color = options.color;
  Output output(output_options);
  Page page(output.stream(), output.table_options());
  std::vector<std::string> names;
  if (const queries::CatalogueEntry* const entry = queries::Catalogue::Get().Find(options.name)) {
    if (json) {
      output.stream() << ViewJson(*entry).dump(2) << "\n";
    } else {
      ShowView(page, *entry);
    }
    return output.Finish();
  }
  for (const schema::TableDescription& table : schema::DescribeTables(schema::SchemaSql())) {
    if (table.name == options.name) {
      if (json) {
        output.stream() << TableJson(table).dump(2) << "\n";
      } else {
        ShowTable(page, table);
      }
      return output.Finish();
    }
    names.push_back(table.name);
  }
  for (const queries::CatalogueEntry& entry : queries::Catalogue::Get().entries())
    names.push_back(entry.id);
  throw Error(
      fmt::format("no rule, view or table {}{}", options.name, DidYouMean(options.name, names)),
      ExitCode::kUsage);
}

}  // namespace

void RegisterShow(Verbs& verbs, ExitCode&) {
  Verb verb = verbs.Add("show", "Explain a rule, a view or a table, with its SQL");
  const auto options = std::make_shared<Options>();
  verb.Option("NAME", options->name, "A rule, view or table; `oomdb list tables` names them")
      .Required();
  verb.Option("--format", options->format, "text or json").Type("FORMAT").ShowDefault();
  verb.Option("--color", options->color, "auto, always or never").Type("WHEN").ShowDefault();
  verb.Footer("Example: oomdb show findings");
  verb.Run([options] { Run(*options); });
}

}  // namespace oomdb::cli
