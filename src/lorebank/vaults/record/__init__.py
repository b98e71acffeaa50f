"""Records: one Markdown file each, parsed, validated, and edited without touching what did not change."""
